import { createFanfareClient } from '@fanfare/react';
import { useMemo } from 'react';
import { useSession } from '../session.ts';

/** For what the hooks have no name for, and for operators. */
export function useClient(): ReturnType<typeof createFanfareClient> {
  const { token = '', tenant = '' } = useSession() ?? {};
  return useMemo(
    () => createFanfareClient({ url: '/graphql', token, ...(tenant === '' ? {} : { tenant }) }),
    [token, tenant],
  );
}
