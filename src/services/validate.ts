import type { z } from 'zod';
import { FanfareError } from '../domain/errors.ts';

/** Validates a whole input. @throws FanfareError BAD_USER_INPUT listing every fault and its location. */
export function validate<T>(
  schema: z.ZodType<T>,
  value: unknown,
  path: readonly (string | number)[] = [],
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({
    path: [...path, ...issue.path.filter((part) => typeof part !== 'symbol')],
    message: issue.message,
  }));
  const summary = issues
    .slice(0, 5)
    .map((issue) => (issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`))
    .join('; ');
  throw new FanfareError('BAD_USER_INPUT', summary, { issues });
}
