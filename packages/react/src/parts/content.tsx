import type { ReactNode } from 'react';
import type { FanfareItem, Media } from '../item.ts';
import { useCommonWords } from '../provider.tsx';
import { usePicture } from './picture.ts';

/** Up to so many are drawn as stars. */
const MOST_STARS = 10;

/** What an action shows below its sentence: a rating, what somebody wrote, pictures and files. */
export function Content({ item }: { readonly item: Pick<FanfareItem, 'action'> }): ReactNode {
  const { body, rating, media } = item.action.content;
  const [pictures, files] = [media.filter(isPicture), media.filter((one) => !isPicture(one))];
  return (
    <>
      {rating !== null && <Rating {...rating} />}
      {body !== null && (
        <p data-fanfare="text" dir="auto">
          {body}
        </p>
      )}
      {pictures.length > 0 && (
        <div data-fanfare="pictures" data-count={Math.min(pictures.length, 4)}>
          {pictures.map((one, at) => (
            <Picture key={at} media={one} />
          ))}
        </div>
      )}
      {files.map(({ url, alt }, at) => (
        <a key={at} href={url} rel="noreferrer" target="_blank" data-fanfare="file" dir="auto">
          {alt === '' ? url.replace(/^.*\/(?=.)/, '') : alt}
        </a>
      ))}
    </>
  );
}

const isPicture = ({ kind }: Media): boolean => kind === 'PICTURE';

function Rating({ value, max }: { readonly value: number; readonly max: number }): ReactNode {
  const said = useCommonWords().rating(value, max);
  if (max > MOST_STARS) return <p data-fanfare="rating">{said}</p>;
  return (
    <p data-fanfare="rating" role="img" aria-label={said} title={said}>
      {'★'.repeat(Math.round(value)).padEnd(max, '☆')}
    </p>
  );
}

function Picture({ media: { url, alt, width, height } }: { readonly media: Media }): ReactNode {
  const { picture, isShown, onError } = usePicture(url);
  if (!isShown) return alt === '' ? null : <p dir="auto">{alt}</p>;
  return (
    <img
      ref={picture}
      src={url}
      alt={alt}
      width={width ?? undefined}
      height={height ?? undefined}
      loading="lazy"
      onError={onError}
    />
  );
}
