import { createFanfareClient } from '@fanfare/react';
import { useMemo } from 'react';
import { useSession } from '../session.ts';

/** For what the hooks have no name for. */
export function useClient(): ReturnType<typeof createFanfareClient> {
  const token = useSession()?.token ?? '';
  return useMemo(() => createFanfareClient({ url: '/graphql', token }), [token]);
}
