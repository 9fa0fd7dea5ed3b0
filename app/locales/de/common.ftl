### Was mehrere Seiten sagen, und der Rahmen um alle.

common_skip = Zum Inhalt springen
common_brand = Gradmark, Startseite
common_pages = Seiten
common_compare = Vergleichen
common_leaderboard = Bestenliste
common_privacy = Kein Ergebnis wird ohne einen Klick hochgeladen, und vorher lassen sich die genauen Daten ansehen. Während ein
    Lauf trainiert, erhält der Server Prüfsummen davon und kann die Gewichte anfordern, damit belegt ist, dass wirklich
    trainiert wurde. Weder Adressen noch User-Agent-Zeichenketten werden gespeichert, und wer ein Ergebnis hochlädt, kann es
    wieder löschen.
common_show_file = Ergebnisdatei anzeigen
common_nothing_here = Hier ist nichts
common_nothing_here_why = Vielleicht ist die Adresse falsch geschrieben, oder das Ergebnis wurde gelöscht.
common_to_start = Zur Startseite

## Auswahl am Ende jeder Seite

common_language = Sprache
common_colours = Farben
common_colours_system = Wie das System
common_colours_light = Hell
common_colours_dark = Dunkel

## So viele von einer Sache

common_runs = { $number ->
    [one] { $number } Lauf
   *[other] { $number } Läufe
 }
