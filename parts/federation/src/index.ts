import { CommandError } from '../../../src/cli/context.ts';
import type { Config } from '../../../src/config/config.ts';
import type { AssembleSchema } from '../../../src/graphql/builder.ts';
import { FEDERATION } from './settings.ts';

const PACKAGES = '@pothos/plugin-federation@4 @pothos/plugin-directives@4 @apollo/subgraph@2';

/** The API as a subgraph. */
export function subgraphSchema(config: Config): AssembleSchema | null {
  if (!config.of(FEDERATION)) return null;
  return async () => {
    const { subgraph } = await import('./subgraph.ts').catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
      throw new CommandError(`FEDERATION=on requires packages: run npm install ${PACKAGES}`);
    });
    return subgraph();
  };
}
