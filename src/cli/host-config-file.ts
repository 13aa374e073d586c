import type { CommandContext } from '../app/command-shapes.ts';
import { existsSync } from 'node:fs';
import { extname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withReactions } from '../config/read-config.ts';
import { checkHostConfig, type HostConfig } from '../descriptors/host-config.ts';
import type { HostPart } from '../descriptors/host-parts.ts';
import { useDescriptors } from '../descriptors/registry.ts';
import { CommandError } from './context.ts';

/** Looked for in the working directory, in this order. */
const FILE_NAMES = ['fanfare.config.ts', 'fanfare.config.mjs', 'fanfare.config.js'];
/** Configuration files import the functions of the server that reads them, wherever they are. */
const AUTHORING = fileURLToPath(
  new URL(`../descriptors/authoring${extname(import.meta.url)}`, import.meta.url),
);

/**
 * Uses the types of the host's configuration in this process. Without a configuration, the types of all packs are served.
 * @param given the file; default: FANFARE_CONFIG, else one of the file names in the working directory.
 * @returns the context with settings that the file gives and the environment does not.
 * @throws HostConfigError, CommandError
 */
export async function withHostConfig(
  context: CommandContext,
  given: string | undefined,
  parts: readonly HostPart[] = [],
): Promise<CommandContext> {
  const { env } = context;
  const file = hostConfigFile(given ?? env['FANFARE_CONFIG']);
  if (file === null) return context;
  const source = relative('', file);
  if (!existsSync(file)) throw new CommandError(`The configuration ${source} does not exist`);
  const declared = await defaultExport(file, source);
  const checked = checkHostConfig(declared, source, parts);
  useDescriptors(checked);
  return { ...context, hostConfig: declared as HostConfig, env: withReactions(env, checked.reactions) };
}

function hostConfigFile(given: string | undefined): string | null {
  if (given !== undefined && given !== '') return resolve(given);
  const found = FILE_NAMES.find((name) => existsSync(name));
  return found === undefined ? null : resolve(found);
}

async function defaultExport(file: string, source: string): Promise<unknown> {
  // Node 20 cannot import TypeScript.
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, {
    alias: { '@fanfare/server': AUTHORING },
    fsCache: false,
    interopDefault: false,
  });
  let module: { readonly default?: unknown };
  try {
    module = await jiti.import(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${source} cannot be loaded: ${reason}`, { cause: error });
  }
  if (module.default === undefined) throw new CommandError(`${source} has no default export`);
  return module.default;
}
