### Records of the time to a target, and the open class.

speedrun_title = Speedrun
speedrun_link = Speedrun: the fastest to the target
speedrun_lead = The shortest proven training time to a network's target, for each class of devices.
speedrun_rules = Target: { $goal } on the test set. Only proven runs of the whole { $suite } suite with its default
    settings count, and evaluation is not part of the time. Below each record are the runs that held it before.
speedrun_classes = The class follows from what the system reports: its kind, the name of the GPU, and whether there is a
    battery. A computer whose browser hides both counts as a desktop.
speedrun_phone = Phone
speedrun_laptop = Laptop
speedrun_desktop = Desktop
speedrun_server = Server
speedrun_record = record
speedrun_record_meaning = Fastest proven run of its class
speedrun_kernels = Kernels
speedrun_none = No proven run has reached the target yet.
speedrun_run = Run the { $suite } suite

## The open class

speedrun_open = Open class
speedrun_open_lead = Networks of your own, ranked by the test loss that the leaderboard itself computes from the last
    weights.
speedrun_open_changes = A workload file may change the optimizer, the learning rate and its schedule, and all sizes of
    the network. The text, its characters and its test part stay, and every answer may depend only on the characters
    before it.
speedrun_open_document = The rules, the format and an example: { $document }
speedrun_open_how = Write a file, then train and upload it with this command:
speedrun_open_ranking = Open class by test loss
speedrun_open_none = No proven run in the open class yet.
speedrun_parameters = { $number ->
    [one] { $number } parameter
   *[other] { $number } parameters
 }
speedrun_bits = { $bits } bits per character
speedrun_training_time = Training time
