import type { Config } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import { createApp, type App, type AppDependencies, type AppParts } from './app.ts';
import { startDatabases, withAddresses, type Databases, type StartSteps } from './databases.ts';

export interface Server extends AsyncDisposable {
  readonly app: App;
  /** Includes the addresses of the databases in use, external or local. */
  readonly config: Config;
  readonly databases: Databases;
}

export interface ServerOptions {
  readonly config: Config;
  readonly parts: AppParts;
  readonly env: Environment;
  readonly steps: StartSteps;
  /** Called once the databases are available. */
  readonly dependencies: (databases: Databases) => AppDependencies;
}

/** Starts local databases if no address is given, then the app. On failure, closes what was started. */
export async function openServer({
  config: given,
  parts,
  dependencies,
  ...where
}: ServerOptions): Promise<Server> {
  const databases = await startDatabases(where, given, where.steps);
  try {
    const config = withAddresses(given, databases);
    const app = await createApp(config, parts, dependencies(databases));
    return {
      app,
      config,
      databases,
      async [Symbol.asyncDispose]() {
        try {
          await app.close();
        } finally {
          await databases[Symbol.asyncDispose]();
        }
      },
    };
  } catch (error) {
    await databases[Symbol.asyncDispose]();
    throw error;
  }
}
