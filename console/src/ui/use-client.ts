import { createFanfareClient } from '@fanfare/react';
import { useSession, type Session } from '../session.ts';

type Client = ReturnType<typeof createFanfareClient>;

let last: { readonly session: Session | null; readonly client: Client } | null = null;

/** For what the hooks have no name for, and for operators. One for all that is shown. */
export function useClient(): Client {
  const session = useSession();
  if (last?.session !== session) {
    last?.client.close();
    const { token = '', tenant = '' } = session ?? {};
    last = {
      session,
      client: createFanfareClient({ url: '/graphql', token, ...(tenant === '' ? {} : { tenant }) }),
    };
  }
  return last.client;
}
