import type { DescriptorInput, FeedClient, PublishActionInput } from '@fanfare/client';
import { useCallback } from 'react';
import type { FanfareItem } from '../item.ts';
import { useReader } from '../provider.tsx';

/** What is published beside what happened: mentions, refs, scope and more. */
export type PublishOptions = Omit<PublishActionInput, 'descriptor'>;

export interface Published {
  readonly id: string;
  /** It waits for review: nobody else sees it. */
  readonly isHidden: boolean;
}

/** Publishes in the reader's name: `publish({ posted: { … } }, { mentions })`. Rejects with a FeedClientError. */
export function usePublish(): (descriptor: DescriptorInput, options?: PublishOptions) => Promise<Published> {
  const { client } = useReader();
  return useCallback(
    async (descriptor, options = {}) =>
      (await client.mutations.publishAction({ input: { ...options, descriptor } })).action,
    [client],
  );
}

/** The client of the provider, for anything that has no hook. It is the reader's own: do not keep it. */
export function useClient(): FeedClient<FanfareItem> {
  return useReader().client;
}
