### What is trained, and how.

## What the address asks for

settings_twice = { $name } can be given only once in the address.
settings_one_limit = The address can have only one of epochs, steps and seconds.
settings_no_suite = There is no suite named “{ $value }”. Known suites: { $known }.
settings_no_workload = There is no workload named “{ $value }”. Known workloads: { $known }.
settings_no_matrix = In the address, precision must be f16 or f32: browsers do not offer matrix units to pages.
    native-runner --precision f16-matrix uses them if the device lists them.
settings_no_precision = In the address, precision must be f16 or f32, but is “{ $value }”.
settings_no_feature = In the address, without must name features of { $known }, but is “{ $value }”.
settings_no_backend = The page has no backend named “{ $value }”. Known backends: { $known }.
settings_two_backends = In the address, compare must name two or more of { $known }, but is “{ $value }”.
settings_no_seeds = In the address, seeds must be a whole number from 1 to { $most }, but is “{ $value }”.
settings_not_positive = The setting { $name } must be a whole number from 1, but is “{ $value }”.
settings_no_seconds = The setting seconds must be above 0 and at most 3600, but is “{ $value }”.
settings_no_seed = The seed must be a whole number from 0 to { $most }, but is “{ $value }”.
settings_no_learning_rate = The learning rate must be a number above 0, such as 0.01, but is “{ $value }”.
settings_no_switch = In the address, { $name } must be 1 or 0, but is “{ $value }”.
settings_unknown = The address has settings that this page does not know: { $names }. It knows { $known }.

## Summary of the settings, and their cost

settings_summary_suite = { $suite } suite, { $networks } of them
settings_summary_chosen = { $networks } chosen
settings_precision = precision { $precision }
settings_without = no use of { $features }
settings_seconds = { $seconds } s of training
settings_seed = seed { $seed }
settings_back_end = { $backend } as the backend
settings_no_whole_suite = networks that are not a whole suite
settings_consequence = You chose { $reasons }. This makes the run non-standard: it is shown, but never ranked.
settings_a_minute = About a minute
settings_last_time = About { $time }, as the last time in this browser
settings_minutes = At most { $minutes } minutes of training
settings_digits = 11 MB of handwritten digits
settings_photographs = 170 MB of photographs
settings_bundle = { $size } of { $what }
settings_no_fetch = { $time }; makes up its stories itself.
settings_fetch = { $time }; fetches { $what } the first time.
settings_memory = Takes about { $size } of the GPU's memory.
settings_frameworks_not_ranked = Runs of other frameworks are never ranked.
settings_only_suites_ranked = Only whole suites are ranked.

## As they are chosen

settings_settings = Settings:
settings_as_suite = as in the suite
settings_empty = Leave empty for the value of the suite
settings_title_rate = Learning rate
settings_title_seconds = Maximum seconds of training
settings_f16 = f16, if the device supports it
settings_networks = Networks:
settings_one_by_one = Or single networks
settings_engine = Engine:
settings_what_computes = Backend
settings_no_onnx = ONNX Runtime Web is not among them: it supports no training since version 1.20.
settings_compare = Compare backends
settings_compare_note = On a separate page, each trains the same networks from the same seed.
