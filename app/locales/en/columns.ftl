### The columns of the table of runs.

columns_title = Columns
columns_legend = Shown of each result
columns_batch_size = Batch size
columns_precision = Precision
columns_program = Program
columns_tier = Checked
columns_day = Day
