### Was der Server ablehnt, nach seinen Codes. Was hier keinen Text hat, steht in den Worten des Servers da.

refusal_offline = es besteht keine Netzwerkverbindung
refusal_unreachable = der Server ist nicht erreichbar
refusal_unexpected = die Antwort des Servers stammt nicht von der Bestenliste (Status { $status })
refusal_busy = Der Server ist ausgelastet. Bitte in einer Minute noch einmal versuchen.
refusal_read_only = Die Bestenliste nimmt zurzeit keine Ergebnisse an. Bitte später noch einmal versuchen.
refusal_too_large = Das Protokoll ist für die Bestenliste zu groß.
refusal_already_submitted = Dieser Lauf wurde schon hochgeladen.
refusal_wrong_secret = Dieser Löschlink gehört nicht zu diesem Ergebnis. Bitte den ganzen Link kopieren.
refusal_bad_name = Der Name darf höchstens 80 gewöhnliche Zeichen haben.
