#include <array>
#include <cstdint>
#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "backends/llvm/arithmetic.h"
#include "backends/llvm/vector_math.h"

// erf and erfc. With AVX-512 by polynomials of the distance to the nearest of
// 16 centers, whose coefficients registers hold.

namespace hone::backends {
namespace {

constexpr int64_t kLanes = 16;
// Added to a float of less than 2^22, it leaves the nearest integer in the low
// bits of the sum.
constexpr double kRound = 0x1.8p23;

using Table = std::array<float, kLanes>;

// Coefficients of polynomials of the distance to the nearest center, constant
// ones first. Centers are floats near multiples of their distance at which the
// function's value is close to a float. The other coefficients are minimax fits
// on the interval around each center (tools/fit_error_functions.py).

// erf(x) / x; centers are about 1/3.875 apart.
constexpr double kErfCentersPerUnit = 3.875;
constexpr Table kErfOverXCenters = {
    0.0F,        0.258063048F, 0.51612401F, 0.774185061F,
    1.03225029F, 1.29031849F,  1.54838562F, 1.80645013F,
    2.06452823F, 2.32257414F,  2.58063722F, 2.83872128F,
    3.09675145F, 3.35483265F,  3.61292362F, 3.87097216F};
constexpr std::array<Table, 6> kErfOverX = {{
    {1.12837923F, 1.10382307F, 1.0357095F, 0.938307106F, 0.828927934F,
     0.722276449F, 0.627400219F, 0.547688663F, 0.482674986F, 0.430117071F,
     0.387399405F, 0.352250308F, 0.322915196F, 0.298076838F, 0.276784062F,
     0.258333027F},
    {-1.7845814e-05F, -0.186553016F, -0.331717908F, -0.411587089F,
     -0.426402837F, -0.394306511F, -0.338920444F, -0.279284239F, -0.226093262F,
     -0.182983086F, -0.149557382F, -0.123961881F, -0.104250535F, -0.088845633F,
     -0.0766087696F, -0.0667358637F},
    {-0.375082552F, -0.332781404F, -0.221792191F, -0.0880251229F, 0.0243054219F,
     0.0920919776F, 0.116265677F, 0.111428834F, 0.0936146677F, 0.0736595988F,
     0.0565076694F, 0.0433111191F, 0.0335872434F, 0.0264682956F, 0.0212016217F,
     0.0172397252F},
    {-0.0220715608F, 0.107567124F, 0.168854982F, 0.166717023F, 0.118451446F,
     0.0571275204F, 0.00875127595F, -0.0176538434F, -0.0260286164F,
     -0.0245144609F, -0.0195958503F, -0.0146234799F, -0.0106949052F,
     -0.00785838068F, -0.00586268399F, -0.00445271283F},
    {0.305824459F, 0.0871547982F, 0.0283443891F, -0.0289635379F, -0.0580652244F,
     -0.0558088794F, -0.0363509543F, -0.0156976525F, -0.00212270021F,
     0.00384704885F, 0.00508670416F, 0.00436910614F, 0.00324931275F,
     0.00229611807F, 0.00161845819F, 0.00115015579F},
    {-0.597650051F, -0.0365189761F, -0.0497114621F, -0.0355069004F,
     -0.00930792093F, 0.0107474551F, 0.0172419567F, 0.0137348287F,
     0.00730010169F, 0.002371134F, -8.29850978e-05F, -0.000836532505F,
     -0.000834061007F, -0.000629910966F, -0.000435260183F, -0.000295074948F},
}};

// log2(erfc(x)); centers are about 2/3 apart.
constexpr double kErfcCentersPerUnit = 1.5;
constexpr Table kLogErfcCenters = {
    0.0F,        0.666663945F, 1.33333218F, 1.99998689F,
    2.66667485F, 3.33333707F,  4.00006866F, 4.66668892F,
    5.33333826F, 5.99996901F,  6.66666222F, 7.33331537F,
    7.99997044F, 8.66676521F,  9.33333015F, 9.99994564F};
constexpr std::array<Table, 6> kLogErfc = {{
    {0.0F, -1.53207135F, -4.07468939F, -7.73989058F, -12.5878649F, -18.6515598F,
     -25.9516945F, -34.4985466F, -44.3018532F, -55.3665733F, -67.698204F,
     -81.2978821F, -96.168602F, -112.315582F, -129.730988F, -148.422729F},
    {-1.62790716F, -3.0186367F, -4.63612986F, -6.37402391F, -8.17747498F,
     -10.0185184F, -11.8827734F, -13.7615709F, -15.6504984F, -17.5464439F,
     -19.44771F, -21.3527088F, -23.2606602F, -25.1713161F, -27.083147F,
     -28.9966068F},
    {-0.918441176F, -1.14562058F, -1.26764929F, -1.33269083F, -1.36909044F,
     -1.39074028F, -1.40438473F, -1.41342461F, -1.41967785F, -1.42415845F,
     -1.42746723F, -1.42997873F, -1.43191862F, -1.43345356F, -1.43468869F,
     -1.43568718F},
    {-0.148369402F, -0.0826608911F, -0.0435669087F, -0.0237540286F,
     -0.0137407081F, -0.0084416857F, -0.00547209056F, -0.00371391606F,
     -0.00261999923F, -0.0019095412F, -0.00143064349F, -0.0010973959F,
     -0.000858978427F, -0.000684211729F, -0.000553454098F, -0.000453741202F},
    {0.0282299984F, 0.0197217967F, 0.0103649171F, 0.00518147461F,
     0.00267662783F, 0.00145909551F, 0.000841952511F, 0.000507092394F,
     0.000333336473F, 0.00022208161F, 0.000140842661F, 0.00012227484F,
     6.03151311e-05F, 4.22245976e-05F, 6.18484046e-05F, 1.34982474e-05F},
    {-0.00159862859F, -0.00329961209F, -0.00214764779F, -0.00106297503F,
     -0.000509616395F, -0.00025259328F, -0.000131903347F, -7.26966391e-05F,
     -4.21290461e-05F, -2.55439863e-05F, -1.61018088e-05F, -1.05226927e-05F,
     -7.05667117e-06F, -4.93882771e-06F, -3.46214415e-06F, -2.46305672e-06F},
}};

// 2^x for |x| up to 1/2.
constexpr double kExp2[] = {1.0,           0.693147182,   0.240226507,
                            0.0555032752,  0.00961801503, 0.00134003954,
                            0.000154733993};

}  // namespace

llvm::Value* VectorMath::ApplyTo16Lanes(
    llvm::Value* value,
    llvm::function_ref<llvm::Value*(llvm::Value*)> instruction) {
  const int64_t lanes = LanesOf(value);
  if (lanes == 0) {
    llvm::Type* wide = llvm::FixedVectorType::get(value->getType(), kLanes);
    value = b_.CreateInsertElement(llvm::PoisonValue::get(wide), value,
                                   uint64_t{0});
    return b_.CreateExtractElement(instruction(value), uint64_t{0});
  }
  llvm::SmallVector<llvm::Value*> parts;
  for (int64_t begin = 0; begin < lanes; begin += kLanes) {
    llvm::SmallVector<int> mask(kLanes, llvm::PoisonMaskElem);
    for (int64_t i = 0; i < kLanes && begin + i < lanes; ++i) {
      mask[static_cast<size_t>(i)] = static_cast<int>(begin + i);
    }
    parts.push_back(instruction(b_.CreateShuffleVector(value, mask)));
  }
  llvm::Value* all = llvm::concatenateVectors(b_, parts);
  llvm::SmallVector<int> mask(static_cast<size_t>(lanes));
  std::iota(mask.begin(), mask.end(), 0);
  return b_.CreateShuffleVector(all, mask);
}

llvm::Value* VectorMath::LookUp(const Table& table, llvm::Value* index) {
  llvm::Value* values =
      llvm::ConstantDataVector::get(b_.getContext(), llvm::ArrayRef(table));
  return ApplyTo16Lanes(index, [&](llvm::Value* part) {
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                              {values, part});
  });
}

VectorMath::Piece VectorMath::NearestPiece(llvm::Value* x,
                                           double centers_per_unit,
                                           const Table& centers,
                                           llvm::ArrayRef<Table> coefficients) {
  llvm::Value* nearest =
      Bits(MultiplyAdd(x, Number(x, centers_per_unit), Number(x, kRound)));
  llvm::Value* distance = b_.CreateFSub(x, LookUp(centers, nearest));
  llvm::Value* slope = LookUp(coefficients.back(), nearest);
  for (size_t i = coefficients.size() - 1; i-- > 1;) {
    slope = MultiplyAdd(slope, distance, LookUp(coefficients[i], nearest));
  }
  return {LookUp(coefficients[0], nearest), slope, distance};
}

llvm::Value* VectorMath::ErfByExponential(llvm::Value* x) {
  // -expm1(-q) where erfc = exp(-q); it is 1 from 4 on.
  llvm::Value* magnitude = AtMost(Abs(x), 4.0);
  llvm::Value* q =
      Polynomial(magnitude, {1.12837923, 0.636616468, 0.102814414,
                             -0.0193217136, 0.000205711083, 0.00125175109,
                             -0.000381002581, 4.07082407e-05});
  llvm::Value* h = HalfExpm1(b_.CreateFNeg(b_.CreateFMul(q, magnitude)));
  return CopySign(b_.CreateFMul(h, Number(x, -2.0)), x);
}

llvm::Value* VectorMath::Erf(llvm::Value* x) {
  if (!has_avx512_) return ErfByExponential(x);
  // Past the end of the last piece, the quotient there makes it 1.
  llvm::Value* magnitude = Abs(x);
  const Piece piece =
      NearestPiece(AtMost(magnitude, (kLanes - 0.51) / kErfCentersPerUnit),
                   kErfCentersPerUnit, kErfOverXCenters, kErfOverX);
  llvm::Value* quotient = MultiplyAdd(piece.slope, piece.distance, piece.value);
  return CopySign(AtMost(b_.CreateFMul(quotient, magnitude), 1.0), x);
}

llvm::Value* VectorMath::Erfc(llvm::Value* x) {
  // It is 0 from the end of the last piece on.
  llvm::Value* magnitude =
      AtMost(Abs(x), (kLanes - 0.51) / kErfcCentersPerUnit);
  const Piece piece =
      NearestPiece(magnitude, kErfcCentersPerUnit, kLogErfcCenters, kLogErfc);
  // The fraction of the logarithm without the rounding of the whole of it.
  llvm::Value* log = MultiplyAdd(piece.slope, piece.distance, piece.value);
  Reduced e;
  e.whole = b_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, log);
  e.r = MultiplyAdd(piece.slope, piece.distance,
                    b_.CreateFSub(piece.value, e.whole));
  llvm::Constant* round = Number(x, kRound);
  e.n = b_.CreateSub(Bits(b_.CreateFAdd(e.whole, round)), Bits(round));
  llvm::Value* y = Scaled(Polynomial(e.r, kExp2), e);
  return b_.CreateSelect(b_.CreateFCmpOLT(x, Number(x, 0.0)),
                         b_.CreateFSub(Number(x, 2.0), y), y);
}

}  // namespace hone::backends
