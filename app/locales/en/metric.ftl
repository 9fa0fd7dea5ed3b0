### Metrics of a network. In English they are as the crate `results` has them.

metric_samples_per_second = Training throughput
metric_samples_per_second_description = Training samples per second: the median of windows of at least one second
    after the warm-up.
metric_accuracy = Test accuracy
metric_accuracy_description = Share of correct answers that the trained network gives on the test set.
metric_test_loss = Test loss
metric_test_loss_description = Mean cross-entropy of the trained network's answers on the test set; lower is better.
metric_seconds_to_target = Time to target
metric_seconds_to_target_description = Seconds of training, evaluation excluded, until the workload's target
    accuracy or loss was first seen.
metric_seconds_per_epoch = Time per epoch
metric_seconds_per_epoch_description = Seconds of training for one pass over the training set, median over the
    finished epochs.
metric_step_seconds_p50 = Step time, median
metric_step_seconds_p50_description = Seconds per training step, median over the counted windows.
metric_step_seconds_p95 = Step time, 95th percentile of windows
metric_step_seconds_p95_description = Seconds per training step: in 95 % of the counted windows, the mean is lower.
metric_training_seconds = Timed training
metric_training_seconds_description = All timed training of this run, including training only for measurement, without
    evaluation.
metric_testing_seconds = Testing time
metric_testing_seconds_description = Seconds of the last pass over the test set.
metric_flops_per_second = Arithmetic
metric_flops_per_second_description = Floating-point operations per second that the network needs, counted from its
    shapes.
metric_share_of_peak = Share of the device's peak
metric_share_of_peak_description = Arithmetic as a share of the device's best rate, measured right afterwards with
    multiplications and additions only.
metric_sustained_ratio = Sustained
metric_sustained_ratio_description = Slowest counted window divided by the fastest; from 97 % the run is called
    sustained.
metric_joules_per_epoch = Energy per epoch
metric_joules_per_epoch_description = Energy that the device used in timed training, for as many samples as the
    training set has.
metric_joules_per_sample = Energy per sample
metric_joules_per_sample_description = Energy that the device used in timed training, for each sample.
metric_samples_per_joule = Throughput per watt
metric_samples_per_joule_description = Training samples per second for each watt that the device used: samples for
    each joule.
