static const MerPreset presets[] = {{"map", "a=1"},
                                    {"schedule", "a=2"}, {NULL, NULL}};
int nest;
