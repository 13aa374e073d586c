import { InvalidArgumentError } from 'commander';

export const TENANT = ['--tenant <name>', 'the tenant, required if TENANT_CLAIM is set'] as const;

export function atLeastOne(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('Expected a whole number from 1.');
  return value;
}
