import { z } from 'zod';
import { jsonSchema } from '../../descriptors/define.ts';

export const MAX_URL_LENGTH = 2_048;
/** Maximum size of a member's or ref's free data, in bytes of JSON. */
export const MAX_DETAILS_BYTES = 4 * 1024;

/**
 * Only https: clients show it as an image or link, which must neither run a script, nor end the attribute it stands in, nor be
 * readable in transit, nor carry a password.
 */
const LINK = /^https:\/\/[^\s\p{C}"'`<>\\]+$/iu;

const urlSchema = z
  .string()
  .max(MAX_URL_LENGTH, `Must be at most ${String(MAX_URL_LENGTH)} characters`)
  .refine(
    (value) => LINK.test(value) && value.isWellFormed() && hasNoPassword(value),
    'Must be a URL that begins with https://, without user name and password, quotes, angle brackets, backslashes and spaces',
  );

function hasNoPassword(value: string): boolean {
  const url = URL.parse(value);
  return url?.username === '' && url.password === '' && !/^https:\/\/[^/?#]*@/iu.test(value);
}

/** Omitted details are cleared, like everything a record omits. */
export const DETAIL_FIELDS = {
  imageUrl: urlSchema.nullish().transform((url) => url ?? null),
  url: urlSchema.nullish().transform((url) => url ?? null),
  data: jsonSchema(MAX_DETAILS_BYTES)
    .nullish()
    .transform((data) => data ?? null),
};

const refused = z
  .unknown()
  .optional()
  .refine((value) => value == null, 'Must be omitted here: set it with upsertRefs');

/** For inputs that only refer to a ref. */
export const REFUSED_DETAIL_FIELDS = { imageUrl: refused, url: refused, data: refused };
