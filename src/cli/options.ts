import { InvalidArgumentError } from 'commander';

export const TENANT = ['--tenant <name>', 'the tenant, required if TENANT_CLAIM is set'] as const;

export function atLeastOne(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('Expected a whole number from 1.');
  return value;
}

/** More would only hold more of the file in memory. */
const MOST_IN_FLIGHT = 256;

/** Parses `--in-flight`. */
export function batchCount(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MOST_IN_FLIGHT)
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${String(MOST_IN_FLIGHT)}.`);
  return value;
}

/** Of the token printed at start: its user, and with tenants its tenant. */
export const DEMO_USER = 'demo';
export const DEMO_TENANT = 'demo';
