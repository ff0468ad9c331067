import '../clients/beta.ts';
import '../domain/thing.ts';
import '../http/view.ts'; // layer-usecases
