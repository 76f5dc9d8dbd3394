const MerOptimizerClass mer_optimizer_lpt = {.name = "lpt"};
