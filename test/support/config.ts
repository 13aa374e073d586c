import { BROUGHT } from '../../src/app/brought.ts';
import { type Config, ConfigError } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/env.ts';
import { readConfig, type ReadConfigOptions } from '../../src/config/read-config.ts';

/** What a server with this environment, in which no tokens are checked, has of it. */
export function configOf(env: Environment): Config {
  return readConfig(env, { ...BROUGHT, needsKey: false });
}

/** What is wrong with an environment, by the names of the variables. */
export function faultsOf(env: Environment, more: Partial<ReadConfigOptions> = {}): Record<string, string> {
  try {
    readConfig(env, { ...BROUGHT, ...more });
  } catch (error) {
    if (error instanceof ConfigError)
      return Object.fromEntries(error.faults.map(({ name, message }) => [name, message]));
    throw error;
  }
  return {};
}
