### What is trained, and how.

## What the address asks for

settings_once = { $names } can be given only once in the address.
settings_wrong = The setting { $name } must be { $expected }, but is “{ $value }”.
settings_one_of = one of { $known }
settings_two_of = two or more of { $known }
settings_whole_number = a whole number from { $least } to { $most }
settings_positive = a number above 0
settings_positive_up_to = a number above 0 and at most { $most }
settings_unknown = Unknown settings in the address: { $names }. Known settings: { $known }.
settings_no_matrices = This page cannot use f16-matrix: wgpu, the library that it uses for WebGPU, cannot request a
    browser's experimental matrix units. The native-runner program can use them.
settings_use_default = Use the default settings

## Summary of the settings, and their cost

settings_seed = seed { $seed }
settings_no_whole_suite = not a whole suite
settings_consequence = This run is never ranked: { $reasons }.
settings_a_minute = About a minute
settings_last_time = About { $time }, as last time
settings_minutes = At most { $minutes } minutes of training
settings_fetch = { $time }; downloads { $what } the first time.
settings_memory = Takes about { $size } of the GPU's memory.

## As they are chosen

settings_options = Options
settings_empty = Leave empty for standard values
settings_title_rate = Learning rate
settings_title_seconds = Maximum seconds of training
settings_networks = Networks
settings_compare = Compare backends
