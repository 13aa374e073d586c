import { z } from 'zod';

export const reasonSchema = z
  .string()
  .max(2_000, 'Must be at most 2000 characters')
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'Must be well-formed Unicode without NUL')
  .nullish()
  .transform((reason) => reason ?? null);
