/**
 * The gateway as a process of its own: one JSON argument in, one JSON line out, and it ends when its owner does, that
 * is, when its standard input closes or on SIGTERM.
 */
import { z } from 'zod';
import { logLine } from '../process/log-line.ts';
import { startGateway } from './gateway.ts';

const optionsSchema = z.strictObject({
  postgres: z.strictObject({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535),
    user: z.string().min(1),
    database: z.string().min(1),
  }),
  /** The name to log in with. Without one nobody has to. */
  user: z.string().min(1).optional(),
  /** The Unix socket to listen on. */
  socket: z.string().min(1),
  poolSize: z.int().min(1),
});

const { user, ...options } = optionsSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
// Passwords come by the environment, because a command line is for everybody to see.
const { PGPASSWORD: password, GATEWAY_PASSWORD: ownPassword } = process.env;
if (user !== undefined && !ownPassword) throw new Error('GATEWAY_PASSWORD is needed where a user is named');
await startGateway({
  ...options,
  postgres: { ...options.postgres, ...(password === undefined ? {} : { password }) },
  ...(user === undefined || !ownPassword ? {} : { credentials: { user, password: ownPassword } }),
  onFault(fault) {
    const cause = fault.cause instanceof Error ? ` (${fault.cause.message})` : '';
    logLine(`${fault.name}: ${fault.message}${cause}`);
  },
});

const leave = (): void => {
  process.exit(0);
};
process.on('SIGTERM', leave);
// Ctrl-C reaches the whole process group, but the owner still needs its database while it shuts down.
process.on('SIGINT', () => undefined);
process.stdin.on('end', leave);
process.stdin.on('close', leave);
process.stdin.on('error', leave);
process.stdin.resume();

process.stdout.write(`${JSON.stringify({ listening: options.socket })}\n`);
