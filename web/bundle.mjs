// Bundles src/ and the two packages into dist/report.html: one file, nothing to fetch.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(here, ...parts);
const PLACEHOLDER = "__MERCATOR_DATA__";

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [at("src", entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii",
    legalComments: "none",
    target: "es2022",
    ...options,
  });
  return result.outputFiles[0].text.trim();
}

function licences() {
  const packages = ["uplot", "@dagrejs/dagre", "@dagrejs/graphlib"];
  return packages.map((name) => {
    const { version } = JSON.parse(readFileSync(at("node_modules", name, "package.json"), "utf8"));
    const text = readFileSync(at("node_modules", name, "LICENSE"), "utf8").trim();
    return { name, version, text };
  });
}

const packages = licences();
const notice = packages
  .map(({ name, version, text }) => `${name} ${version}\n\n${text}`)
  .join("\n\n----\n\n")
  .replaceAll("--", "==");
const style = await bundle("style.css", { loader: { ".css": "css" } });
const script = await bundle("main.js", { format: "iife" });

// A function as replacement: the bundle may contain `$&`, which a string would expand.
const page = readFileSync(at("template.html"), "utf8")
  .replace("<!doctype html>", () => `<!doctype html>\n<!--\nParts of this page:\n\n${notice}\n-->`)
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script.replaceAll("</script", "<\\/script"));
if (page.split(PLACEHOLDER).length !== 2)
  throw new Error(
    `the page holds ${PLACEHOLDER} ${page.split(PLACEHOLDER).length - 1} times, expected once`,
  );
mkdirSync(at("dist"), { recursive: true });
writeFileSync(at("dist", "report.html"), page);

writeFileSync(
  at("THIRD_PARTY.md"),
  "# Packages inside dist/report.html\n\n" +
    "Written by bundle.mjs from the installed packages.\n" +
    packages
      .map(({ name, version, text }) => `\n## ${name} ${version}\n\n\`\`\`\n${text}\n\`\`\`\n`)
      .join(""),
);
console.log(`dist/report.html: ${page.length} bytes`);
