import { z } from 'zod';

export const MAX_URL_LENGTH = 2_048;

/**
 * Only https: clients show it as an image or link, which must neither run a script, nor end the attribute it stands in, nor be
 * readable in transit, nor carry a password.
 */
const LINK = /^https:\/\/[^\s\p{C}"'`<>\\]+$/iu;

/** An address that clients show as an image or link. */
export const urlSchema = z
  .string()
  .max(MAX_URL_LENGTH, { error: `Must be at most ${String(MAX_URL_LENGTH)} characters`, abort: true })
  .refine(
    (value) => LINK.test(value) && value.isWellFormed() && hasNoPassword(value),
    'Must be a URL that begins with https://, without user name and password, quotes, angle brackets, backslashes and spaces',
  );

function hasNoPassword(value: string): boolean {
  const url = URL.parse(value);
  return url?.username === '' && url.password === '' && !/^https:\/\/[^/?#]*@/iu.test(value);
}
