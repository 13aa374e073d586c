import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_LISTS } from '../../src/domain/viewer.ts';
import { sized, type Part } from '../harness/part.ts';
import { askedOfLists, configOfLists, LIST_SIZES, listReaderOf, loadListReaders } from '../world/lists.ts';
import { measureReaders } from './few-match.ts';

/** Views, lists of a reader and pages upwards, each beside the list that it is like. */
export const listsPart: Part = {
  name: 'lists',
  run: async (context) => {
    const size = sized(context.options, LIST_SIZES);
    const config = join(context.environment.folder, 'lists.config.mjs');
    writeFileSync(config, configOfLists());
    const { figures, series } = await measureReaders(context, {
      ...{
        name: 'lists',
        title: `${String(size.length)} actions`,
        asked: askedOfLists,
        userOf: listReaderOf,
      },
      load: (world, fanfare) => loadListReaders(world, fanfare, size),
      env: { FANFARE_CONFIG: config },
    });
    return {
      title: 'Many lists',
      about: [
        `Two readers follow one thing with ${String(size.length)} actions; the newest 1,000 are stored, all are unread. One of them follows ${String(MAX_LISTS * size.entries)} further things, which are in ${String(MAX_LISTS)} exclusive lists. A page has 25 items. Each is asked for a third time and later, one at a time; CPU is that of all processes.`,
      ],
      figures,
      raw: { ...size, series },
    };
  },
};
