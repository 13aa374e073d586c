import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { startDatabases } from '../../../src/connections/databases.ts';
import { embeddedSteps } from '../../../src/cli/embedded-steps.ts';
import { AdoptionRefused, adoptDatabase } from './adopt-database.ts';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { isTenantName, TENANT_FORM, type Tenant } from '../../../src/domain/stored-id.ts';
import { clock } from '../../../src/lib/clock.ts';
import { isThere, NewFile } from '../../../src/lib/own-file.ts';
import { processesRepository } from '../../../src/storage/database/processes.ts';
import { erasedTenantsRepository } from '../../../src/features/tenants/store.ts';
import { configOf, CommandError, operatorOf } from '../../../src/cli/context.ts';
import { openRuntime, type Runtime } from '../../../src/cli/runtime.ts';
import * as allOfTenant from './all-of-tenant.ts';

export interface ExportTenantOptions {
  readonly out: string;
}

export interface EraseTenantOptions {
  readonly yes?: boolean;
}

const OPERATOR = operatorOf('tenant');

/** How long writes that another process had begun may continue, in milliseconds. */
const SECOND_LOOK_MS = 60_000;
const EVER = new Date(0);

/** Lists all tenants with stored data: name, members and actions, separated by tabs. */
export async function listTenants(context: CommandContext): Promise<void> {
  await using runtime = await open(context, 'Interrupted.');
  let isAny = false;
  for await (const { tenant, members, actions } of allOfTenant.listTenants(runtime.app.core, OPERATOR)) {
    isAny = true;
    context.terminal.out(`${tenant}\t${String(members)} members\t${String(actions)} actions`);
  }
  if (!isAny) context.terminal.note('Nothing is stored about any tenant.');
}

export async function exportTenant(
  context: CommandContext,
  name: string,
  { out }: ExportTenantOptions,
): Promise<void> {
  const tenant = nameOf(context, name);
  if (await isThere(out)) throw new CommandError(`--out ${out} already exists`);
  const file = new NewFile(out);
  await using runtime = await open(
    context,
    `Interrupted: ${out} was not written. Run the same command again.`,
    () => file.discard(),
  );
  let [count, documents] = [0, 0];
  const { collections } = await context.composed();
  const { core } = runtime.app;
  async function* text(): AsyncGenerator<string> {
    for await (const { section, lines } of allOfTenant.exportTenant(core, OPERATOR, tenant, collections)) {
      count += lines.length;
      if (section !== 'head' && section !== 'end') documents += lines.length;
      yield lines.map((line) => `${line}\n`).join('');
    }
  }
  try {
    if (out.endsWith('.gz')) await pipeline(Readable.from(text()), createGzip(), file.open());
    else await pipeline(Readable.from(text()), file.open());
    if (documents === 0)
      throw new CommandError(
        `Nothing is stored about ${tenant}: no file was written. All tenants with data: fanfare tenant list`,
      );
    await file.complete();
  } finally {
    await file.discard();
  }
  context.terminal.note(`${String(count)} lines written to ${out}`);
}

export async function eraseTenant(
  context: CommandContext,
  name: string,
  { yes }: EraseTenantOptions,
): Promise<void> {
  const tenant = nameOf(context, name);
  if (yes !== true)
    throw new CommandError(
      `--yes is missing: this permanently removes everything of ${tenant}. To write it to a file first: fanfare tenant export ${tenant} --out <file>`,
    );
  await using runtime = await open(context, 'Interrupted. Run the same command again to continue.');
  const removed = new Map<string, number>();
  const { collections: declared } = await context.composed();
  const { core } = runtime.app;
  const round = async (): Promise<void> => {
    for await (const { section, count } of allOfTenant.eraseTenant(core, OPERATOR, tenant, declared))
      removed.set(section, (removed.get(section) ?? 0) + count);
  };
  const { collections } = runtime.app.database;
  const erased = await erasedTenantsRepository(collections.erasedTenants).erasedSince([tenant], EVER);
  await round();
  if (sumOf(removed) === 0 && erased.size === 0)
    throw new CommandError(
      `Nothing is stored about ${tenant}: nothing was removed. All tenants with data: fanfare tenant list`,
    );
  const processes = processesRepository(collections);
  // This process is among them.
  if ((await processes.count(clock.now())) > 1) {
    context.terminal.note(
      'Other processes are running: repeating the deletion in a minute, for writes that were in progress',
    );
    await delay(SECOND_LOOK_MS);
    await round();
  }
  await runtime.app.forgetDeleted();
  for (const [section, count] of removed) context.terminal.out(`${section}\t${String(count)}`);
  context.terminal.note(`All data of ${tenant} have been removed.`);
}

/** Assigns all data of a database without tenants to one tenant. */
export async function adoptTenant(context: CommandContext, name: string): Promise<void> {
  const tenant = nameOf(context, name);
  const config = configOf(context, { needsKey: false });
  using steps = embeddedSteps(context.terminal, null);
  await using local = config.mongodb.uri === undefined ? await startDatabases(context, config, steps) : null;
  const { connectDatabase, collections } = await context.composed();
  const uri = config.mongodb.uri ?? local?.mongodbUri ?? '';
  await using database = await connectDatabase({ uri, db: config.mongodb.db });
  const changed = new Map<string, number>();
  try {
    await adoptDatabase(database, collections, tenant, {
      now: clock.now(),
      onProgress: (collection, count) => changed.set(collection, count),
    });
  } catch (error) {
    if (error instanceof AdoptionRefused) throw new CommandError(error.message);
    throw error;
  }
  for (const [collection, count] of changed) context.terminal.out(`${collection}\t${String(count)}`);
  context.terminal.note(
    `All data now belong to ${tenant}. Start servers with the same TENANT_CLAIM; tokens require that claim.`,
  );
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** @throws CommandError when it is no name, or tenants are off. */
function nameOf(context: CommandContext, name: string): Tenant {
  if (!isTenantName(name)) throw new CommandError(`<tenant> got "${String(name)}", expected ${TENANT_FORM}`);
  if (configOf(context, { needsKey: false }).auth.tenantClaim === undefined)
    throw new CommandError('TENANT_CLAIM is not set: it names the claim of tokens that holds the tenant');
  return name;
}

function open(
  context: CommandContext,
  farewell: string,
  onInterrupted?: () => Promise<void>,
): Promise<Runtime> {
  return openRuntime(context, {
    config: configOf(context, { needsKey: false }),
    parts: { api: false, worker: false },
    voice: 'command',
    farewell: () => farewell,
    ...(onInterrupted === undefined ? {} : { onInterrupted }),
  });
}
