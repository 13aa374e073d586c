import { z } from 'zod';

/** Of RFC 5321, in characters. */
const MAX_EMAIL_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;

/** A mail address as browsers check it: domains in other letters in their form of ASCII. The domain becomes lower case. */
export const emailSchema = z
  .string()
  .max(MAX_EMAIL_LENGTH, { error: `Must be at most ${String(MAX_EMAIL_LENGTH)} characters`, abort: true })
  .refine(
    (text) => z.regexes.html5Email.test(text) && text.lastIndexOf('@') <= MAX_LOCAL_LENGTH,
    'Must be a mail address such as ann@app.example',
  )
  .transform((text) => {
    const at = text.lastIndexOf('@');
    return text.slice(0, at) + text.slice(at).toLowerCase();
  });

const MAX_LOCALE_LENGTH = 64;

/** A language tag, in the form in which it is usually written. */
export const localeSchema = z
  .string()
  .max(MAX_LOCALE_LENGTH, { error: `Must be at most ${String(MAX_LOCALE_LENGTH)} characters`, abort: true })
  .transform((text, context) => {
    try {
      return new Intl.Locale(text).baseName;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      context.addIssue({ code: 'custom', message: 'Must be a language tag, such as de or de-AT' });
      return z.NEVER;
    }
  });

export const zoneSchema = z
  .string()
  .max(64, { error: 'Must be at most 64 characters', abort: true })
  .refine(isTimeZone, 'Must be the name of a time zone, such as Europe/Berlin');

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
