/** German, for the sign-in by the host's accounts. */
export const signIn: Readonly<Record<string, string>> = {
  'Sign in with your account': 'Mit Ihrem Konto anmelden',
  At: 'Bei',
  'With a token': 'Mit einem Token',
  'The sign-in has failed.': 'Die Anmeldung ist fehlgeschlagen.',
  'The sign-in cannot be loaded. Load the page again.':
    'Die Anmeldung kann nicht geladen werden. Laden Sie die Seite neu.',
  'The provider has not let you in, or you did not agree.':
    'Der Anbieter hat Sie nicht eingelassen, oder Sie haben nicht zugestimmt.',
  'The provider answers with an error.': 'Der Anbieter antwortet mit einem Fehler.',
  'The sign-in has taken too long, or was used already.':
    'Die Anmeldung hat zu lange gedauert oder wurde schon benutzt.',
  'The clock of this machine, or that of the provider, is wrong.':
    'Die Uhr dieses Rechners oder die des Anbieters geht falsch.',
  'The provider does not answer: it is away, or is not set to answer pages of this origin.':
    'Der Anbieter antwortet nicht: Er ist nicht erreichbar, oder er ist für Seiten dieser Herkunft nicht eingerichtet.',
  'This answer belongs to no sign-in that was begun in this tab.':
    'Diese Antwort gehört zu keiner Anmeldung, die in diesem Tab begonnen wurde.',
  'The provider says of none of its pages that one signs in there.':
    'Der Anbieter nennt keine Seite, auf der man sich anmeldet.',
  'An address of the provider is not encrypted.': 'Eine Adresse des Anbieters ist nicht verschlüsselt.',
  'The provider gives tokens where this page may not ask. Load the page again.':
    'Der Anbieter gibt Tokens an einer Stelle aus, die diese Seite nicht fragen darf. Laden Sie die Seite neu.',
  'The provider has given no token for renewals.': 'Der Anbieter hat kein Token zum Erneuern ausgegeben.',
  'The server refuses the tokens of the provider.': 'Der Server lehnt die Tokens des Anbieters ab.',
  'Its access tokens are no JWTs. Name an audience or resource that it knows in CONSOLE_OIDC_REQUEST.':
    'Seine Zugriffstokens sind keine JWTs. Nennen Sie in CONSOLE_OIDC_REQUEST eine audience oder resource, die er kennt.',
  'They are for another server, or of another provider than it expects.':
    'Sie sind für einen anderen Server oder von einem anderen Anbieter, als er erwartet.',
  'Their issuer and audience are right. See whether JWKS_URI has the keys of this provider.':
    'Ihr Aussteller und ihre Empfänger stimmen. Sehen Sie nach, ob JWKS_URI die Schlüssel dieses Anbieters hat.',
};
