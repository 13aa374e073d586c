import * as oauth from 'oauth4webapi';
import type { Fault } from './outcome.ts';

/** Why a sign-in cannot go on, in words. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
  readonly details: readonly string[];
  readonly hint: string;

  constructor(says: string, details: readonly string[] = [], hint = '') {
    super(says);
    this.details = details;
    this.hint = hint;
  }
}

/** What has failed on the way to the provider and back, for people. */
export function explain(error: unknown): Fault {
  if (error instanceof Unusable) return { says: error.message, hint: error.hint, details: error.details };
  if (error instanceof oauth.AuthorizationResponseError)
    return {
      says:
        error.error === 'access_denied'
          ? 'The provider has not let you in, or you did not agree.'
          : 'The provider answers with an error.',
      details: [[error.error, error.error_description].filter(Boolean).join(': ')],
    };
  if (error instanceof oauth.ResponseBodyError)
    return {
      says:
        error.error === 'invalid_grant'
          ? 'The sign-in has taken too long, or was used already.'
          : 'The provider answers with an error.',
      details: [[error.error, error.error_description].filter(Boolean).join(': ')],
    };
  if (error instanceof oauth.OperationProcessingError && error.code === oauth.JWT_TIMESTAMP_CHECK)
    return {
      says: 'The clock of this machine, or that of the provider, is wrong.',
      details: [error.message],
    };
  // A browser does not tell a script which it was.
  if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError'))
    return {
      says: 'The provider does not answer: it is away, or is not set to answer pages of this origin.',
      details: [location.origin],
    };
  return {
    says: 'The sign-in has failed.',
    details: [error instanceof Error ? error.message : String(error)],
  };
}
