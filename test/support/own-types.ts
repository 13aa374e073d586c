import { defineDescriptor } from '../../src/descriptors/declare.ts';
import { field } from '../../src/descriptors/field.ts';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';

/** Types of a host in another field, with a field of every kind, and a language of its own. */
const config = defineConfig({
  packs: ['social'],
  locales: {
    fr: {
      others: '{count, plural, one {# autre} other {# autres}}',
      manyOthers: 'beaucoup d’autres',
      formerMember: 'Ancien membre',
      summaries: { Liked: ['{actor} aime {objectType} {objectId}', '{actor} aime {objectType}'] },
      groupSummaries: {
        Liked: '{actor} {subjects, plural, one {aime} other {aiment}} {objectType} {objectId}',
      },
    },
  },
  descriptors: [
    defineDescriptor('BuildFailed', {
      description: 'A build broke.',
      fields: {
        repoId: field.ref('repo', { label: 'repoName', indexed: true }),
        repoName: field.text(),
        authorId: field.person({ name: 'authorName', concerned: true }),
        authorName: field.text(),
        branch: field.text({ max: 200 }),
        minutes: field.int({ min: 0, optional: true }),
        load: field.float({ optional: true }),
        stage: field.enum(['TEST', 'DEPLOY'], { optional: true }),
        isNight: field.boolean({ optional: true }),
        startedAt: field.dateTime({ optional: true }),
        pipelineId: field.id({ optional: true }),
        log: field.json(),
        note: field.text({ optional: true, shownAs: 'body' }),
        severity: field.int({ min: 0, max: 3, optional: true, shownAs: 'rating' }),
        shots: field.media({ max: 2, optional: true }),
      },
      summary: {
        en: '{authorId} broke {branch} of {repoId}',
        de: '{authorId} hat {branch} von {repoId} zerbrochen',
        fr: '{authorId} a cassé {branch} de {repoId}',
      },
      group: ['repoId', 'branch'],
      groupSummary: {
        de: '{authorId} {subjects, plural, one {hat} other {haben}} {branch} von {repoId} zerbrochen',
        fr: '{authorId} {subjects, plural, one {a} other {ont}} cassé {branch} de {repoId}',
      },
    }),
  ],
});

/** Makes these the types of this process; to be called before anything asks for one. */
export function useOwnTypes(): void {
  useDescriptors(checkHostConfig(config, 'test/support/own-types.ts'));
}
