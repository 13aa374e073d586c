import { z } from 'zod';
import { textSchema } from './text-schema.ts';
import { urlSchema } from './url-schema.ts';

/** Upper bound of pictures and files in an action. */
export const MAX_MEDIA = 10;
/** Upper bound of what a picture shows, in characters. */
export const MAX_ALT_LENGTH = 1_000;
/** Upper bound of a picture's sides, in pixels. */
const MAX_SIDE = 65_535;

export const MEDIA_KINDS = ['PICTURE', 'FILE'] as const;

/** A picture or file as it is published. */
export interface MediaGiven {
  /** https, at most 2,048 characters. */
  readonly url: string;
  /** What a picture shows, or the name of a file; at most 1,000 characters. Default: empty, for a picture that says nothing. */
  readonly alt?: string | null;
  /** Default: PICTURE. */
  readonly kind?: (typeof MEDIA_KINDS)[number] | null;
  /** In pixels, together with `height`. */
  readonly width?: number | null;
  readonly height?: number | null;
  /** Colours to show until a picture is loaded (https://blurha.sh). */
  readonly blurhash?: string | null;
}

/** As it is stored: what was left out is absent. */
export interface Media {
  readonly url: string;
  readonly alt: string;
  readonly kind: (typeof MEDIA_KINDS)[number];
  readonly width?: number;
  readonly height?: number;
  readonly blurhash?: string;
}

const side = z.int().min(1).max(MAX_SIDE).nullish();

const mediumSchema = z
  .strictObject({
    url: urlSchema,
    alt: textSchema(MAX_ALT_LENGTH).nullish(),
    kind: z.enum(MEDIA_KINDS).nullish(),
    width: side,
    height: side,
    blurhash: z.string().refine(isBlurhash, 'Must be a BlurHash').nullish(),
  })
  .refine(
    ({ width, height }) => (width == null) === (height == null),
    'Must have both width and height, or none',
  )
  .transform(({ url, alt, kind, width, height, blurhash }): Media => ({
    url,
    alt: alt ?? '',
    kind: kind ?? 'PICTURE',
    ...(width == null || height == null ? {} : { width, height }),
    ...(blurhash == null ? {} : { blurhash }),
  }));

export function mediaSchema(max: number): z.ZodType<Media[]> {
  return z
    .array(z.unknown())
    .max(max, { error: `Must be at most ${String(max)}`, abort: true })
    .pipe(z.array(mediumSchema));
}

/** Of base 83, as BlurHash counts. */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~';
const ONLY_DIGITS = /^[\w#$%*+,\-.:;=?@[\]^{|}~]+$/;

/** The first digit says how many others there are: two for each of at most nine by nine colours. */
function isBlurhash(value: string): boolean {
  const size = DIGITS.indexOf(value.charAt(0));
  const colours = ((size % 9) + 1) * (Math.floor(size / 9) + 1);
  return size >= 0 && size < 81 && value.length === 4 + 2 * colours && ONLY_DIGITS.test(value);
}

/** What a stored descriptor has in a field of pictures and files. */
export function mediaIn(value: unknown): readonly Media[] {
  return Array.isArray(value) ? value.filter(isMedia) : [];
}

export function isMedia(value: unknown): value is Media {
  if (typeof value !== 'object' || value === null || !('url' in value && 'alt' in value)) return false;
  return typeof value.url === 'string' && typeof value.alt === 'string';
}
