### Diagramme: ihre Daten als Tabelle und Datei.

charts_data = Daten
charts_data_of = Daten des Diagramms „{ $title }“
charts_table_of = Daten: { $title }
charts_not_saved = Nicht gespeichert: { $reason }.
charts_no_drawing = es gibt keine Zeichnung
charts_scrollable = { $title }, verschiebbar
