import type { z } from 'zod';
import { FanfareError, type InputIssue } from '../domain/errors.ts';

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
  throw new FanfareError('BAD_USER_INPUT', summaryOf(issues), { issues });
}

/** The first faults in words, each with its location. */
export function summaryOf(issues: readonly InputIssue[]): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}
