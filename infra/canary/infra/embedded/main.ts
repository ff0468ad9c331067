import '../../services/alpha/src/store/things.ts'; // infra-entry-points-only
