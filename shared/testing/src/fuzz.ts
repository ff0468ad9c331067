import fc from 'fast-check';

/** A fixed seed, so that failures are reproducible; `TOCSIN_TEST_SEED=random` tests other values. */
const SEED = 20_261_120;

const { TOCSIN_TEST_SEED: seed = String(SEED) } = process.env;
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });

export default fc;
