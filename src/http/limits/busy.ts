import type { GraphQLError } from 'graphql';
import { apiError } from '../../graphql/errors.ts';

const RETRY_AFTER_S = '1';

/** An error for what may succeed a moment later. */
export function busy(code: 'UNAVAILABLE' | 'RATE_LIMITED', message: string): GraphQLError {
  return apiError(code, `${message}, try again in ${RETRY_AFTER_S} s`, {
    status: code === 'UNAVAILABLE' ? 503 : 429,
    headers: { 'Retry-After': RETRY_AFTER_S },
  });
}
