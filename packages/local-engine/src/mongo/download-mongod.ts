import { join } from 'node:path';
import type { RequestOptions } from 'node:https';
import { reasonOf } from '../errors.ts';
import type { OnEmbeddedEvent } from '../events.ts';

export interface MongodDownload {
  readonly cacheDir: string;
  readonly onEvent: OnEmbeddedEvent;
}

/** How long the download server may take to answer before it counts as out of reach, in milliseconds. */
const PROBE_MS = 2_000;

/** A mongod that was downloaded before, or null. */
export async function findDownloadedMongod({
  cacheDir,
}: Pick<MongodDownload, 'cacheDir'>): Promise<string | null> {
  const { DryMongoBinary } = await import('mongodb-memory-server-core/lib/util/DryMongoBinary.js');
  try {
    const version = DryMongoBinary.getEnsuredOptions().version;
    return (await DryMongoBinary.locateBinary({ version, downloadDir: folder(cacheDir) })) ?? null;
  } catch {
    return null; // There is no mongod for this system.
  }
}

/** Downloads a mongod for this system, or says why that cannot be done. Takes at most 3 s to find that out. */
export async function downloadMongod(
  options: MongodDownload,
): Promise<{ readonly binary: string } | { readonly reason: string }> {
  try {
    const url = await downloadUrl(options.cacheDir);
    const problem = await whyOutOfReach(url);
    if (problem !== null) return { reason: `the server for MongoDB downloads is out of reach (${problem})` };
    options.onEvent({ step: 'download', message: 'Fetching mongod', fraction: 0 });
    return { binary: await download(options) };
  } catch (error) {
    return { reason: `mongod could not be downloaded (${reasonOf(error)})` };
  }
}

function folder(cacheDir: string): string {
  return join(cacheDir, 'mongodb-binaries');
}

async function binaryOptions(cacheDir: string) {
  const { DryMongoBinary } = await import('mongodb-memory-server-core/lib/util/DryMongoBinary.js');
  return DryMongoBinary.generateOptions({ downloadDir: folder(cacheDir) });
}

/** Rejects when there is no mongod for this system. */
async function downloadUrl(cacheDir: string): Promise<string> {
  const { MongoBinaryDownloadUrl } =
    await import('mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js');
  return new MongoBinaryDownloadUrl(await binaryOptions(cacheDir)).getDownloadUrl();
}

async function whyOutOfReach(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_MS) });
    return response.ok ? null : `status ${response.status}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return reasonOf(cause);
  }
}

async function download({ cacheDir, onEvent }: MongodDownload): Promise<string> {
  const { MongoBinaryDownload } = await import('mongodb-memory-server-core/lib/util/MongoBinaryDownload.js');
  const { LockFile } = await import('mongodb-memory-server-core/lib/util/lockfile.js');

  /** With our way of showing progress, and never without checking who the server is, which is its default. */
  class Download extends MongoBinaryDownload {
    override printDownloadProgress(chunk: { length: number }): void {
      this.dlProgress.current += chunk.length;
      const { current, length } = this.dlProgress;
      if (length > 0)
        onEvent({ step: 'download', message: 'Fetching mongod', fraction: Math.min(1, current / length) });
    }

    override httpDownload(url: URL, options: RequestOptions, target: string, draft: string): Promise<string> {
      return super.httpDownload(url, { ...options, rejectUnauthorized: true }, target, draft);
    }
  }

  const options = await binaryOptions(cacheDir);
  const lock = await LockFile.lock(join(folder(cacheDir), 'download.lock'));
  try {
    return await new Download({ ...options, checkMD5: true }).getMongodPath();
  } finally {
    await lock.unlock();
  }
}
