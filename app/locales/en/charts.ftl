### Charts: their data as tables and files.

charts_data = Data
charts_data_of = Data of the chart “{ $title }”
charts_table_of = Data: { $title }
charts_not_saved = Not saved: { $reason }.
charts_no_drawing = there is no drawing
charts_scrollable = { $title }, scrollable
