/** All control characters but tabs and line breaks, and those that change the direction of all that follows. */
const OBEYED = /(?![\t\n])\p{Cc}|[\u2028-\u202e]/gu;

/** Shows what a terminal would obey: a text of somebody else neither moves the cursor nor looks like another line. */
export function visible(text: string): string {
  return text.replaceAll(OBEYED, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"]*):[^\s@/"]+@/gi;
const BEARER = /\bbearer\s+[\w.~+/=-]+/gi;
const TOKEN = /\beyJ[\w-]{4,}\.[\w-]{4,}\.[\w-]*/g;
const SECRET_FIELD =
  /("(?:proxy-)?(?:authorization|cookie|set-cookie|password|secret|jwtsecret|jwt_secret|token|access_?token)"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\])/gi;

/**
 * Removes secrets from a text: passwords in URLs, bearer credentials, JSON Web Tokens and secret JSON properties. Works on
 * complete lines, so it also covers what libraries put into their error messages.
 */
export function redact(text: string): string {
  return text
    .replace(SECRET_FIELD, '$1"***"')
    .replace(URL_PASSWORD, '$1:***@')
    .replace(BEARER, 'Bearer ***')
    .replace(TOKEN, '***');
}
