### The columns of the table of runs.

columns_title = Columns
