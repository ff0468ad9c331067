import { Fragment } from 'react';
import type { Piece } from './compare-words.ts';

/** A text whose pieces that the other text does not have are marked. */
export const MarkedText = ({ pieces }: { pieces: readonly Piece[] }) =>
  pieces.map(({ text, isSame }, index) =>
    isSame ? <Fragment key={index}>{text}</Fragment> : <mark key={index}>{text}</mark>,
  );
