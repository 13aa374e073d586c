import { createFanfareClient } from '@fanfare/react';
import { useSession } from '../session.ts';

type Client = ReturnType<typeof createFanfareClient>;

let last: { readonly key: string; readonly client: Client } | null = null;

/** For what the hooks have no name for, and for operators. One for all that is shown. */
export function useClient(): Client {
  const { token = '', tenant = '' } = useSession() ?? {};
  const key = `${tenant} ${token}`;
  if (last?.key !== key) {
    last?.client.close();
    last = {
      key,
      client: createFanfareClient({ url: '/graphql', token, ...(tenant === '' ? {} : { tenant }) }),
    };
  }
  return last.client;
}
