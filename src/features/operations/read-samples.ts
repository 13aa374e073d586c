import type { Core } from '../../core/core.ts';
import { tenantOf } from '../../domain/stored-id.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { sessionBatches } from '../../feed/session/session-batches.ts';
import { requireRole } from '../../core/validate.ts';
import type { Sample } from './samples.ts';

const lastHour = sessionBatches<'last hour', readonly Sample[]>(
  async ({ samples }, _session, keys) => {
    const read = (await samples?.lastHour()) ?? [];
    return keys.map(() => read);
  },
  (key) => key,
);

/** The last hour; nothing with tenants, since figures are of all of them. One read a request. @throws FanfareError FORBIDDEN, UNAVAILABLE */
export async function readSamples(core: Core, session: ReaderSession): Promise<readonly Sample[]> {
  const { identity } = session;
  requireRole(identity, 'admin');
  return tenantOf(identity.userId) === null ? lastHour(core, session, 'last hour') : [];
}
