import { encode } from '../bson/encode.ts';
import { textOf } from '../bson/values.ts';
import type { CommandContext, Handlers } from '../context.ts';
import { commandError } from '../errors.ts';
import type { Request } from '../wire/request.ts';
import { serverVersion } from './handshake.ts';

function serverStatus(_request: Request, context: CommandContext): Buffer {
  const uptimeMs = performance.now() - context.startedAt;
  return encode({
    host: 'localhost',
    version: serverVersion,
    process: 'gateway',
    pid: process.pid,
    uptime: Math.floor(uptimeMs / 1000),
    uptimeMillis: Math.floor(uptimeMs),
    localTime: new Date(),
    connections: { current: context.countClients() },
    metrics: { cursor: { open: { total: context.cursors.size } } },
    storageEngine: { name: 'documentdb', persistent: true },
    ok: 1,
  });
}

function getLog(request: Request): Buffer {
  if (textOf(request.body, 'getLog') === '*') return encode({ names: ['global', 'startupWarnings'], ok: 1 });
  return encode({ totalLinesWritten: 0, log: [], ok: 1 });
}

/** The parameters tools ask for; nothing can be set. */
const knownParameters = { featureCompatibilityVersion: { version: '7.0' } } as const;

function getParameter(request: Request): Buffer {
  const wanted = [...request.body.fields.keys()].slice(1);
  const isAll = textOf(request.body, 'getParameter') === '*';
  const found = Object.fromEntries(
    Object.entries(knownParameters).filter(([name]) => isAll || wanted.includes(name)),
  );
  if (Object.keys(found).length === 0) throw commandError('InvalidOptions', 'no option found to get');
  return encode({ ...found, ok: 1 });
}

function hostInfo(): Buffer {
  return encode({
    system: { currentTime: new Date(), hostname: 'localhost', numCores: 1, cpuArch: process.arch },
    os: { type: process.platform },
    extra: {},
    ok: 1,
  });
}

export const diagnosticCommands: Handlers = {
  serverStatus,
  getLog,
  getParameter,
  hostInfo,
  currentOp: () => encode({ inprog: [], ok: 1 }),
  getCmdLineOpts: () => encode({ argv: [], parsed: {}, ok: 1 }),
};
