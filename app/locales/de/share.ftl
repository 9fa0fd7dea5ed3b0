### Einen hochgeladenen Lauf weitergeben.

share_title = Dieses Ergebnis teilen
share_card = Karte mit Wert, Gerät und Lernkurve dieses Ergebnisses
share_now = Teilen …
share_link = Link kopieren
share_text = Text kopieren
share_image = Bild kopieren
share_badge = Abzeichen kopieren (Markdown)
share_embed = Einbettungscode kopieren
share_failed = Nicht geteilt: { $reason }.
