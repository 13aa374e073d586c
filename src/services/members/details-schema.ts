import { z } from 'zod';
import { jsonSchema } from '../../descriptors/define.ts';

const MAX_URL_LENGTH = 2_048;
/** Most bytes of free data of a member or a ref, as JSON. */
const MAX_DATA_BYTES = 4 * 1024;

/** Only https: what clients show as an image or a link must neither run a script nor be read on its way. */
const urlSchema = z
  .string()
  .max(MAX_URL_LENGTH, `Must be at most ${String(MAX_URL_LENGTH)} characters`)
  .refine(
    (value) => /^https:\/\/[^\s\p{Cc}]+$/iu.test(value) && value.isWellFormed() && URL.canParse(value),
    'Must be a URL that begins with https://',
  );

/** What is left out is emptied, as with everything a record leaves out. */
export const DETAIL_FIELDS = {
  imageUrl: urlSchema.nullish().transform((url) => url ?? null),
  url: urlSchema.nullish().transform((url) => url ?? null),
  data: jsonSchema(MAX_DATA_BYTES)
    .nullish()
    .transform((data) => data ?? null),
};

const refused = z
  .unknown()
  .optional()
  .refine((value) => value == null, 'Must be left out here: upsertRefs sets it');

/** The same where a ref is only referred to. */
export const REFUSED_DETAIL_FIELDS = { imageUrl: refused, url: refused, data: refused };
