import { z } from 'zod';
import { hasControl, isVisible } from '../domain/text-forms.ts';

/** A text as people write it. @param max in characters */
export function textSchema(max: number): z.ZodString {
  return (
    z
      .string()
      // Nothing else looks at a text that is too long.
      .max(max, { error: `Must be at most ${String(max)} characters`, abort: true })
      .refine((value) => !value.includes('\0'), 'Must not contain NUL')
      .refine((value) => value.isWellFormed(), 'Must be well-formed Unicode')
  );
}

/** A text that is shown on one line: visible, without control characters. */
export function lineSchema(max: number): z.ZodString {
  return textSchema(max)
    .min(1, 'Must not be empty')
    .refine((value) => !hasControl(value), 'Must not contain control characters')
    .refine((value) => value === '' || isVisible(value), 'Must have a visible character');
}
