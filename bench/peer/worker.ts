import { answer } from '../programs/answer.ts';
import { openPeer, settingsOf } from './manager.ts';

/** What it answers to. */
export interface PeerWorkerApi {
  readonly [name: string]: (argument: never) => unknown;
  readonly ready: (argument: null) => boolean;
}

/** The peer's worker, as in its own benchmark. */
const { manager } = await openPeer(settingsOf(process.argv[2]));
manager.queue.process(5, (job) => {
  // It does not wait for the end of a job, so neither does this.
  manager._fanout(...job.data.args).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
const api: PeerWorkerApi = { ready: () => true };
answer(api);
