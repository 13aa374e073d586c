import { ownSource, type LiveSource, type WatchingClient } from './connection.ts';
import { TabHub } from './tab-hub.ts';
import { TabMember } from './tab-member.ts';

/**
 * One connection for all tabs of a browser that show one reader: the tab that has the lock watches for all of them and
 * forwards by a channel. When it closes, stands still or its token ends, another one continues from the cursors.
 * @param whoAmI asks the server with the token of this tab; tabs with one answer share. Null: it is nobody's
 */
export function sharedSource(client: WatchingClient, whoAmI: () => Promise<string | null>): LiveSource {
  // Browsers that have locks have channels. There are none on servers, nor in pages that came over plain http.
  const { navigator: of } = globalThis as { readonly navigator?: Partial<Navigator> };
  if (of?.locks === undefined) return ownSource(client);
  let hub: TabHub | null = null;
  let tell: (isLeader: boolean) => void = () => undefined;
  return {
    onLeader: (listener) => {
      tell = listener;
    },
    watch(subscriber, onState) {
      if (hub === null || hub.isOver)
        hub = new TabHub(client, whoAmI, (isLeader) => {
          tell(isLeader);
        });
      const mine = hub;
      const member = new TabMember(subscriber, onState);
      mine.join(member);
      return {
        done: member.done,
        end: () => {
          member.end();
          mine.leave(member);
        },
      };
    },
  };
}
